/* float, double, long double, complex numbers and vectors.
 * holds: small >= -1 && large >= -1 && cells[2] >= -1
 * violated: large < 3e10
 * ordered: yes
 * libraries: -lm
 */
#include "say.h"
#include <complex.h>

typedef int four __attribute__((vector_size(16)));
static float small;
static double large, cells[4];
static long double longest;
static double complex number;
static four vector;

static void write_real(double *to, const char *name, double value)
{
    *to = value;
    said_real(name, value);
}

int main(void)
{
    small = 0.5f;
    said_real("small", 0.5);
    write_real(&large, "large", 3.25e10);
    write_real(&cells[2], "cells[2]", -0.125);
    longest = 1.0L / 3;
    number = (1 + 2 * I) * (3 - I);
    for (int i = 0; i < 4; i++)
        vector += (four){1, 2, 3, i};
    small *= 3;
    said_real("small", 1.5);
    printf("%.20Lf %.1f%+.1fi %d %d\n", longest, creal(number), cimag(number), vector[0], vector[3]);
    return 0;
}
