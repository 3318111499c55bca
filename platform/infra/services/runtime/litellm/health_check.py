"""python3 health_check.py URL: exits with 0 if it answers well. The image has no curl."""

import sys
import urllib.request

try:
    urllib.request.urlopen(sys.argv[1], timeout=4)
except OSError:
    sys.exit(1)
