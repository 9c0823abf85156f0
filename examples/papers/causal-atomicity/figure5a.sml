// Figure 5 (a): the block has the lock, the reader has not.
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
  x := Y - 2;
}
