/* Not instrumented: part of outside.c's program. */
extern int level;
void fill_from_outside(int value);

void fill_from_outside(int value)
{
    level = value;
}
