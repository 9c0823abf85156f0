/* One thread appends to a list, another one looks at its first link: libstdc++ has that code in its shared object.
 * race: head w:A r:B
 * tsan: nothing, that code is not instrumented
 */
#include "races.h"
#include <list>
#include <thread>

static std::__detail::_List_node_base head, node;

int main()
{
    head._M_next = head._M_prev = &head;
    std::thread one([] {
        node._M_hook(&head); /* A */
        pass(1);
    });
    await(1);
    USE(head._M_next); /* B */
    one.join();
    return head._M_next != &node;
}
