"""Deploy a CDK app onto an emulator of AWS on this machine, with CDK's own command line."""
