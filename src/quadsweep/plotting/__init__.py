"""Pictures, one a file. Each function draws on the axes it is given and solves nothing."""
