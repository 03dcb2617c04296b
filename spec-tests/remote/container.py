"""Makes the container `fleet` of an Azurite server, with the account and key that every Azurite has."""
import base64, hashlib, hmac, sys, urllib.request
from email.utils import formatdate

account = "devstoreaccount1"
key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-12-02", "Content-Length": "0"}
lines = "".join(f"{name}:{headers[name]}\n" for name in ("x-ms-date", "x-ms-version"))
resource = f"/{account}/{account}/fleet\nrestype:container"
text = "PUT\n" + "\n" * 11 + lines + resource
signature = base64.b64encode(hmac.new(base64.b64decode(key), text.encode(), hashlib.sha256).digest()).decode()
headers["Authorization"] = f"SharedKey {account}:{signature}"
url = f"http://{sys.argv[1]}/{account}/fleet?restype=container"
urllib.request.urlopen(urllib.request.Request(url, data=b"", headers=headers, method="PUT"))
