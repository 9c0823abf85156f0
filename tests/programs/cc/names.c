/* The names that sites carry; run_cc.py looks for each in the object. */
struct inner {
    int x, y;
};
struct outer {
    struct inner in, many[3];
    struct outer *next;
} global, globals[4];
static int counter_of_file;

int touch(struct outer *p, int at);
int touch(struct outer *p, int at)
{
    static int calls;
    calls++;
    counter_of_file++;
    global.in.y = 1;
    globals[2].many[1].x = 2;
    globals[at].in.x = 3;
    p->next->in.y = 4;
    return *&p->many[at].y;
}
