/* Opened by opened.c. */
int opened = 5;
