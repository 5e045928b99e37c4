"""The wheels of a release: built for every platform on one machine, examined, and tested."""
