"""What a kernel is: here, what it computes and moves in closed form."""
