/* The same in C++: objects are written through `this` and references, before main, too. */
struct tank {
    int level, valve;
    tank(int n)
    {
        level = 1;
        level = n;
        valve = level;
    }
    void drain()
    {
        level = 3;
        level = 0;
    }
    ~tank()
    {
        valve = 7;
        valve = 8;
    }
};
int start = 5;
// writes: whole.level=1 whole.level=5 whole.valve=5
tank whole(start);
int last;

static void set(int &x)
{
    x = 1;
    x = 2;
}

int main()
{
    // writes: whole.level=3 whole.level=0
    whole.drain();
    // writes: last=1 last=2
    set(last);
    // and at its end: writes: whole.valve=7 whole.valve=8
}
