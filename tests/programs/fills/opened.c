/* Opens a library after its first event. */
#include <dlfcn.h>

int g;

int main(void)
{
    g = 1;
    int *opened = dlsym(dlopen("./libopened.so", RTLD_NOW), "opened");
    *opened = 6;
    return 0;
}
