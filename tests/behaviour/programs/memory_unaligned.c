/* Packed structures and unaligned accesses through memcpy.
 * holds: packet.kind >= 0 && packet.length >= 0 && packet.value >= -3
 * violated: packet.value != 5000000000
 * ordered: yes
 */
#include "say.h"
#include <stdint.h>

static struct __attribute__((packed)) {
    int8_t kind;
    int32_t length;
    int64_t value;
    int16_t end;
} packet;

int main(void)
{
    SAY(packet.kind, 1);
    SAY(packet.length, 70000);
    SAY(packet.value, 5000000000);
    SAY(packet.value, -3);
    SAY(packet.length, 2);
    packet.end = 9;
    char bytes[sizeof packet];
    memcpy(bytes, &packet, sizeof packet);
    int64_t value;
    memcpy(&value, bytes + 5, sizeof value);
    printf("%d %d %ld %d\n", bytes[0], bytes[1], (long)value, bytes[13]);
    return 0;
}
