"""What is worked on: reading answer files, grading them in processes of their own, reference runs."""
