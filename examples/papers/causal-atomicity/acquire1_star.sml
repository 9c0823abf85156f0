// The same, with the blocks of all threads checked. For more threads the last one is repeated.
int DATA;
lock m;

thread checked {
  while (true) {
    while (busy != 0) { skip; }
    acquire(m);
    begin t := DATA; DATA := t + 1; end
    release(m);
  }
}

thread other {
  while (true) {
    while (busy != 0) { skip; }
    acquire(m);
    begin t := DATA; DATA := t + 1; end
    release(m);
  }
}
