def test_add(portent, here):
    assert portent(here / "test_counter", "add").stdout == "counted 200\n"


def test_bounded(portent, here):
    portent(here / "test_counter", "add", options=["-s", here / "counter.prop"])


def test_peek(portent, here):
    portent(here / "test_counter", "peek")
