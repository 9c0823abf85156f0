/* Clean under -Weverything: instrumenting must not add a warning, nor take the ones below away when they are asked for.
 */
static long double wide;
static int values[100];
int sum(void);
void scale(long double by);

int sum(void)
{
    int total = 0;
#pragma clang loop vectorize(enable)
    for (int i = 0; i < 100; i++)
        total += values[i]++;
    return total;
}

void scale(long double by)
{
    wide *= by;
}
#ifdef UNUSED
static int never_used;
#endif
