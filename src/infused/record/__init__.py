"""What a selection found, as one value: its schema, and how it is made from data and a fitted selector."""
