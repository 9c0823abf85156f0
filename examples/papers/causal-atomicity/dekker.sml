// Dekker's mutual exclusion; the critical section of the first thread is checked.
int C1, C2, TURN, DATA;

thread first {
  while (true) {
    C1 := 1;
    while (C2 = 1) {
      if (TURN = 1) {
        C1 := 0;
        while (TURN = 1) { skip; }
        C1 := 1;
      }
    }
    begin DATA := 1; end
    TURN := 1;
    C1 := 0;
  }
}

thread second {
  while (true) {
    C2 := 1;
    while (C1 = 1) {
      if (TURN = 0) {
        C2 := 0;
        while (TURN = 0) { skip; }
        C2 := 1;
      }
    }
    DATA := 2;
    TURN := 0;
    C2 := 0;
  }
}
