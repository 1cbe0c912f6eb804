"""What is true: the model, closed-form bounds and claims, in exact integers and fractions."""
