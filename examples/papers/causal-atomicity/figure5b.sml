// Figure 5 (b): the same block, and a reader that takes the lock.
lock l;
int Y;

thread T {
  begin
    acquire(l);
    Y := 5;
    Y := 3;
    release(l);
  end
}

thread R {
  acquire(l);
  x := Y - 2;
  release(l);
}
