"""Switch the active region of a deployment, and compare what both regions stored. Over AWS, for operators."""
