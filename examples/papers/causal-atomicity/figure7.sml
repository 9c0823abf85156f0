// Figure 7, whose drawing our copy lacks; this is what the text says of it: there are races on both X and Y, so neither assignment is a mover, and
// the block is causally atomic all the same.
int X, Y;

thread T1 {
  x := X;
}

thread T2 {
  begin
    X := 1;
    Y := 1;
  end
}

thread T3 {
  y := Y;
}
