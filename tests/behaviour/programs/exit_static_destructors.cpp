/* Static objects of C++, local ones too, are made in order and destroyed in reverse order; all write.
 * holds: x >= 0 && x <= 14
 * violated: x != 11
 * ordered: yes
 */
#include "say.h"

static int x;

struct object {
    int number;
    explicit object(int given) : number(given)
    {
        SAY(x, number);
    }
    ~object()
    {
        SAY(x, 10 + number);
        printf("destroyed %d\n", number);
    }
};

static object one(1), two(2);

static object &three()
{
    static object made(3);
    return made;
}

int main()
{
    printf("%d %d\n", three().number, three().number);
    object local(4);
    exit(two.number);
}
