int A, B; lock a, b;
thread teller {
  while (i < 1000) {
    begin : split acquire(a); t := A; A := t - 1; release(a); acquire(b); t := B; B := t + 1; release(b) end
  }
}
thread teller {
  while (i < 1000) {
    begin : split acquire(a); t := A; A := t - 1; release(a); acquire(b); t := B; B := t + 1; release(b) end
  }
}
thread manager {
  begin : whole
    acquire(a); acquire(b);
    if (A > 10) { t := A; A := t - 10; t := B; B := t + 10 };
    release(b); release(a)
  end;
  begin : audit acquire(a); acquire(b); t := A; total := t + B; release(b); release(a) end
}
