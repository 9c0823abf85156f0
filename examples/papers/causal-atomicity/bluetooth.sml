// The Bluetooth driver, simplified: Add uses it, Stop stops it. Add looks at the flag before it announces itself: a real bug.
int PENDING, STOPPING, EVENT, STOPPED;

thread add {
  begin : Add
    if (STOPPING = 1) { status := 1; } else { PENDING := PENDING + 1; status := 0; }
    if (status = 0) {
      if (STOPPED = 1) { error := 1; }
    }
    PENDING := PENDING - 1;
    if (PENDING = 0) { EVENT := 1; }
  end
}

thread stop {
  begin : Stop
    STOPPING := 1;
    PENDING := PENDING - 1;
    if (PENDING = 0) { EVENT := 1; }
    while (EVENT = 0) { skip; }
    STOPPED := 1;
  end
}
