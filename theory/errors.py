"""The one exception that means "the input is at fault, not the program"."""

from __future__ import annotations


class InputError(ValueError):
    """Bad input, told in one line: where it is, what is wrong and what would be right.

    The command line prints the message and exits with code 2.

    Parameters
    ----------
    where : str
        File and place, for example ``burst.json: requests[3].output``.
    fault : str
        What is wrong there.
    remedy : str
        What would be right.

    Examples
    --------
    >>> print(InputError("a.json: memory", "is 0", "give a positive number of tokens"))
    a.json: memory: is 0; give a positive number of tokens
    """

    def __init__(self, where: str, fault: str, remedy: str) -> None:
        self.where = where
        self.fault = fault
        self.remedy = remedy
        super().__init__(" ".join(f"{where}: {fault}; {remedy}".split()))
