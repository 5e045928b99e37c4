"""Plan one graph: a try at plans, the choice among them, and putting it in the old's place."""
