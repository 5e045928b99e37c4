def library_path():
    import os
    from pathlib import Path
    return Path(os.environ["ONNX_SCATTERX_LIBRARY"])
