/* Compiled without Portent. */
extern int level;
void fill(void);

void fill(void)
{
    level += 10;
}
