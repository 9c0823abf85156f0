// Several lines under the mutex. For more threads the last one is repeated.
int DATA;
lock m;

thread checked {
  while (true) {
    while (busy != 0) { skip; }
    acquire(m);
    begin t := DATA; DATA := t + 1; u := DATA; DATA := u * 2; w := DATA; DATA := w + u; end
    release(m);
  }
}

thread other {
  while (true) {
    while (busy != 0) { skip; }
    acquire(m);
    t := DATA; DATA := t + 1; u := DATA; DATA := u * 2; w := DATA; DATA := w + u;
    release(m);
  }
}
