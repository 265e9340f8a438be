"""ministack, an emulator of AWS, with corrections where it differs from AWS."""
