int HEAD, TAIL, NEXT, LENGTH, FILLED; lock m;
thread main {
  while (i < 100) {
    begin : put
      acquire(m);
      t := TAIL;
      if (t != 0) { t := TAIL; NEXT := i } else { HEAD := i };
      TAIL := i; t := LENGTH; LENGTH := t + 1; FILLED := 1;
      release(m)
    end
  }
}
thread worker {
  while (true) {
    begin : take
      acquire(m);
      while (HEAD = 0) { release(m); FILLED := 0; acquire(m) };
      t := HEAD; t := NEXT; HEAD := t; if (HEAD = 0) { TAIL := 0 };
      t := LENGTH; LENGTH := t - 1;
      release(m)
    end;
    begin : done acquire(m); t := F; F := t + 1; release(m) end
  }
}
thread watcher {
  begin : peek
    if (LENGTH > 0) { acquire(m); t := LENGTH; t := LENGTH; LENGTH := t; release(m) }
  end
}
