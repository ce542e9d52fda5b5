"""`python -m judgeaudit`."""

from judgeaudit.cli.main import run

if __name__ == "__main__":
    run()
