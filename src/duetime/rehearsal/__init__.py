"""Deploy a CDK app onto an emulator of AWS on this machine, with CDK's own command line."""

SILENT_NODE = {
    "JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION": "1",
    "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "18,20",
}  # no banner about Node hides what a command prints
