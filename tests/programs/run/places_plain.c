/* Compiled without Portent: an annotation has its place all the same. */
#include <portent.h>

void plain_event(void);

void plain_event(void)
{
    portent_event("done"); /* line 8 */
}
