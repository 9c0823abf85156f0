#ifndef PART_H
#define PART_H
struct record {
    int weight;
    double factor;
};
extern int part_steps;
int part_step(int weight);
#endif
