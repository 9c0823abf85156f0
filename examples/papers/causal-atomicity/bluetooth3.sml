// The driver mended: Add announces itself first. It is correct, which only the value of PENDING shows: not causally atomic.
int PENDING, STOPPING, EVENT, STOPPED;

thread add {
  begin : Add
    PENDING := PENDING + 1;
    if (STOPPING = 1) {
      PENDING := PENDING - 1;
      if (PENDING = 0) { EVENT := 1; }
      status := 1;
    } else {
      status := 0;
    }
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
