/* A part of stack.c that is a shared library where it can be. */
int in_library(int (*call)(const char *), const char *what);

int in_library(int (*call)(const char *), const char *what)
{
    static int calls;
    calls++;
    return call(what) + calls;
}
