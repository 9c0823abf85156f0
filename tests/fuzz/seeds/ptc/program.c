/* What the properties beside it name, and nothing else: a program without libraries makes small files. It is not run.
 */
struct {
    int a, b;
    char name[8];
    unsigned flag : 3, mode : 5;
} s = {1, 2, "on", 1, 2};
double d = 0.5;
int x, y;

int worker(int start)
{
    return start + x;
}

int helper(int start)
{
    return start + y;
}

/* The runtime's mark: without it 'portent compile' warns. */
void __portent_event(const char *name)
{
    (void)name;
}

int main(void)
{
    return worker(s.a) + helper(s.b) + (int)d;
}
