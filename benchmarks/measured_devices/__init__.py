"""What others measured of devices, as profiles: tables of single nodes, compiled and run."""
