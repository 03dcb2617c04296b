"""Makes the container `fleet` of an Azurite server, with the account and key that every Azurite has."""
import base64, hashlib, hmac, http.client, sys
from email.utils import formatdate

account = "devstoreaccount1"
key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-12-02", "Content-Length": "0"}
lines = "".join(f"{name}:{headers[name]}\n" for name in ("x-ms-date", "x-ms-version"))
resource = f"/{account}/{account}/fleet\nrestype:container"
text = "PUT\n" + "\n" * 11 + lines + resource
signature = base64.b64encode(hmac.new(base64.b64decode(key), text.encode(), hashlib.sha256).digest()).decode()
headers["Authorization"] = f"SharedKey {account}:{signature}"
connection = http.client.HTTPConnection(sys.argv[1])
connection.request("PUT", f"/{account}/fleet?restype=container", headers=headers)
reply = connection.getresponse()
sys.exit(0 if reply.status == 201 else f"{reply.status}: {reply.read().decode()}")
