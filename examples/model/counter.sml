// A counter that is read under its lock and written under its lock, but not under one lock.
int COUNT; lock m;

thread clerk {
  while (true) {
    begin : increment
      acquire(m); t := COUNT; release(m);
      acquire(m); COUNT := t + 1; release(m)
    end
  }
}
thread auditor {
  while (true) {
    begin : reset
      acquire(m); if (COUNT > 100) { COUNT := 0 }; release(m)
    end
  }
}
