int PENDINGIO, STOPPINGFLAG, STOPPINGEVENT, STOPPED;
thread add {
  begin : Add
    if (STOPPINGFLAG = 1) { status := 0 - 1 } else { PENDINGIO := PENDINGIO + 1; status := 0 };
    if (status = 0) { if (STOPPED = 1) { err := 1 } };
    PENDINGIO := PENDINGIO - 1;
    if (PENDINGIO = 0) { STOPPINGEVENT := 1 }
  end
}
thread stop {
  begin : Stop
    STOPPINGFLAG := 1;
    PENDINGIO := PENDINGIO - 1;
    if (PENDINGIO = 0) { STOPPINGEVENT := 1 };
    while (STOPPINGEVENT = 0) { skip };
    STOPPED := 1
  end
}
