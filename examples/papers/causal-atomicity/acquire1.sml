// Busy-waiting for a mutex, for ever, and one update under it. For more threads the last one is repeated.
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
    t := DATA; DATA := t + 1;
    release(m);
  }
}
