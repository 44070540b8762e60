"""What the words of ``evals`` do: read and lint eval sets, and calibrate the judge."""
