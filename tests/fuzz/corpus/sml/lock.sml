int DATA; lock m;
thread { while (true) { acquire(m); begin t := DATA; DATA := t + 1 end; release(m) } }
thread { DATA := 0 }
