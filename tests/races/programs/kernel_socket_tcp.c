/* A connection of TCP within one process.
 * race: none
 */
#include "races.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static int server, x;
static struct sockaddr_in address = {.sin_family = AF_INET};

static void *one(void *unused)
{
    int client = socket(AF_INET, SOCK_STREAM, 0);
    NEED(connect(client, (struct sockaddr *)&address, sizeof address) == 0);
    x = 1;
    NEED(send(client, "a", 1, 0) == 1);
    close(client);
    return NULL;
}

static void *two(void *unused)
{
    char byte;
    int client = accept(server, NULL, NULL);
    NEED(recv(client, &byte, 1, 0) == 1);
    x++;
    close(client);
    return NULL;
}

int main(void)
{
    socklen_t size = sizeof address;
    server = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    NEED(bind(server, (struct sockaddr *)&address, size) == 0 && listen(server, 1) == 0);
    NEED(getsockname(server, (struct sockaddr *)&address, &size) == 0);
    both(one, two);
    return x != 2;
}
