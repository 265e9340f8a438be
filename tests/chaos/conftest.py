def pytest_addoption(parser):
    """Add the options; pytest has them if the command names this directory, as `tools chaos` does."""
    parser.addoption("--seconds", type=float, default=600, help="after how many seconds no run begins")
    parser.addoption("--seed", default="1", help="of the first run; later ones have numbers after it")
    parser.addoption("--guards", default="", help="guards to remove, each of which the lane must miss")
