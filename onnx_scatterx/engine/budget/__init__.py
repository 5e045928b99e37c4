"""How much work one command, one scatter and one question may take.

Come here for the steps that remain (``budget``), for all limits (``LIMITS``) and what work costs
(``PRICES``), and for what ends work that takes too much (``LimitError``). Not for what is printed
when they are spent (that is in ``text.reasons``), nor for time: steps do not depend on the machine.
"""
