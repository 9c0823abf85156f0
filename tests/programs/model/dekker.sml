int F1, F2, TURN, DATA;
thread first {
  while (true) {
    F1 := 1;
    while (F2 = 1) { if (TURN != 0) { F1 := 0; while (TURN != 0) { skip }; F1 := 1 } };
    begin : critical DATA := DATA + 1 end;
    TURN := 1; F1 := 0
  }
}
thread second {
  while (true) {
    F2 := 1;
    while (F1 = 1) { if (TURN != 1) { F2 := 0; while (TURN != 1) { skip }; F2 := 1 } };
    begin : critical DATA := DATA + 1 end;
    TURN := 0; F2 := 0
  }
}
