/* A counter that several threads may use. */
#ifndef COUNTER_H
#define COUNTER_H

#ifdef __cplusplus
extern "C" {
#endif

void counter_add(int n);
int counter_get(void);
/* For a progress bar: not exact. */
int counter_peek(void);

#ifdef __cplusplus
}
#endif
#endif
