/* A plug-in that is opened twice and writes the program's variable, in a thread too. It is never closed: an observed
 * one stays loaded until the program ends, whatever dlclose says.
 * holds: x <= 25
 * violated: x != 23
 * ordered: yes
 * flags: -rdynamic
 * plugin: plugin.c
 */
#include "say.h"
#include <dlfcn.h>

int x;

int main(void)
{
    for (int i = 0; i < 2; i++) {
        void *plugin = dlopen("./plugin.so", RTLD_NOW);
        NEED(plugin);
        int (*work)(int) = (int (*)(int))dlsym(plugin, "work");
        NEED(work);
        printf("%d\n", work(10 * (i + 1)));
        SAY(x, 0);
    }
    return 0;
}
