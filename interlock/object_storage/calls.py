"""The calls of S3 by what they are about: whoever is about to send one asks first whether the storage knows it.

A server may take a call that it does not know for another one: to Swift, `DELETE ?lifecycle` is the deletion of the
bucket. So nothing is tried out: a call that is in no row here is not sent, and one in a row only where the storage
takes that setting.
"""

from __future__ import annotations

from collections.abc import Mapping

from .capabilities import Capability, Storage

#: Calls about buckets as such and what is in them, by their names in S3: all storage knows them.
PLAIN = frozenset(
    {
        "AbortMultipartUpload",
        "CreateBucket",
        "DeleteBucket",
        "DeleteObject",
        "HeadBucket",
        "ListMultipartUploads",
        "ListObjectVersions",
    }
)

#: Setting -> the calls that write it, read it and remove it.
CALLS: Mapping[Capability, frozenset[str]] = {
    Capability.VERSIONING: frozenset({"PutBucketVersioning", "GetBucketVersioning"}),
    Capability.LIFECYCLE: frozenset(
        {"PutBucketLifecycleConfiguration", "GetBucketLifecycleConfiguration", "DeleteBucketLifecycle"}
    ),
    Capability.CORS: frozenset({"PutBucketCors", "GetBucketCors", "DeleteBucketCors"}),
    Capability.POLICY: frozenset({"PutBucketPolicy", "GetBucketPolicy", "DeleteBucketPolicy"}),
    Capability.OBJECT_LOCK: frozenset({"PutObjectLockConfiguration", "GetObjectLockConfiguration"}),
    Capability.ENCRYPTION: frozenset({"PutBucketEncryption", "GetBucketEncryption", "DeleteBucketEncryption"}),
    Capability.PUBLIC_ACCESS_BLOCK: frozenset(
        {"PutPublicAccessBlock", "GetPublicAccessBlock", "DeletePublicAccessBlock"}
    ),
}


def takes(storage: Storage, call: str) -> bool:
    """Whether this call may be sent there."""
    return call in PLAIN or any(call in calls and storage.takes(about) for about, calls in CALLS.items())
